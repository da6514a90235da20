pyperf_unit_test(decode
    code_object_test.cpp
    code_table_test.cpp
    escape_test.cpp
    line_table_cases.cpp
    line_table_test.cpp
    stack_table_test.cpp
    stack_test.cpp
    text_test.cpp
    utf8_test.cpp)

# The decoder against an interpreter's own answers at every instruction of its standard library; here a part of it,
# by the interpreter that is there. compare_stdlib.py does it whole and for any number of them.
add_executable(decode_line_tables decode/decode_line_tables.cpp decode/line_table_cases.cpp)
target_include_directories(decode_line_tables PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(decode_line_tables PRIVATE pyperf_core)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME unit_decode_stdlib
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/compare_stdlib.py --fraction 10
                 $<TARGET_FILE:decode_line_tables> ${Python3_EXECUTABLE})
set_tests_properties(unit_decode_stdlib PROPERTIES LABELS unit TIMEOUT 300)
