pyperf_unit_test(render render_test.cpp)
