# rt_embed_text(<library> <file> <function> <header>): the text of the file as what
# `std::string_view <function>()`, declared in the header, returns.
function(rt_embed_text library file function header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${file}")
  file(READ "${PROJECT_SOURCE_DIR}/${file}" text)
  set(made "${PROJECT_BINARY_DIR}/embedded/${file}.cc")
  string(CONCAT code
    "#include \"${header}\"\n\nnamespace rowtide {\n\n"
    "std::string_view ${function}() { return R\"~embedded~(${text})~embedded~\"; }\n\n"
    "}  // namespace rowtide\n")
  file(GENERATE OUTPUT "${made}" CONTENT "${code}")
  target_sources(rt_${library} PRIVATE "${made}")
endfunction()
