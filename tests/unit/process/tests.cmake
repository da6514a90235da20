pyperf_unit_test(process discover_test.cpp identity_test.cpp kernel_records_test.cpp maps_test.cpp program_test.cpp memory_test.cpp
                 perf_record_test.cpp perf_ring_test.cpp)
target_include_directories(unit_process PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit)
