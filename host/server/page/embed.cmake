# cmake -DFOLDER=... -DOUTPUT=page_text.cc -P embed.cmake: index.html with page.css and page.js in it, as a C++ array.
file(READ ${FOLDER}/index.html page)
foreach(part IN ITEMS css js)
  file(READ ${FOLDER}/page.${part} text)
  string(REPLACE "@page.${part}@" "${text}" page "${page}")
endforeach()
file(WRITE ${OUTPUT}.html "${page}")
file(READ ${OUTPUT}.html bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"server/page/page_text.h\"\n\nnamespace gainz::host {\nnamespace {\n\n"
     "constexpr unsigned char kText[] = {\n${bytes}};\n\n}  // namespace\n\n"
     "std::string_view page_text() { return {reinterpret_cast<const char*>(kText), sizeof kText}; }\n\n}  // namespace gainz::host\n")
