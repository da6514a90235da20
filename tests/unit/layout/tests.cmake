pyperf_unit_test(layout layout_text_test.cpp)
