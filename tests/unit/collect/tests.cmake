pyperf_unit_test(collect
    missing_pieces_test.cpp)
