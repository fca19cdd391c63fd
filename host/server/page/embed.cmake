# cmake -DINPUT=index.html -DOUTPUT=page_text.cc -P embed.cmake: the file's bytes as a C++ array.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"server/page/page_text.h\"\n\nnamespace gainz::host {\nnamespace {\n\nconstexpr unsigned char kText[] = {\n${bytes}};\n\n}  // namespace\n\n"
     "std::string_view page_text() { return {reinterpret_cast<const char*>(kText), sizeof kText}; }\n\n}  // namespace gainz::host\n")
