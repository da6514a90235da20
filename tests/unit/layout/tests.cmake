pyperf_unit_test(layout
    database_test.cpp
    layout_check_test.cpp
    layout_file_test.cpp
    layout_reader_test.cpp
    layout_test.cpp
    layout_text_test.cpp
    layout_writer_test.cpp
    open_database_test.cpp
    resolver_test.cpp
    structures_test.cpp)
target_include_directories(unit_layout PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit)
target_link_libraries(unit_layout PRIVATE pyperf)  # open_database_test.cpp goes through the C interface
