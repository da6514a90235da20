pyperf_unit_test(elf code_reader_test.cpp image_test.cpp interpreter_image_test.cpp relocations_test.cpp
                 thread_locals_test.cpp)
target_include_directories(unit_elf PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit)
