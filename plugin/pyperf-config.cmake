include("${CMAKE_CURRENT_LIST_DIR}/pyperf-targets.cmake")
