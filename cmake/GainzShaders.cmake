# gainz_shader(TARGET NAME source [definitions...])  compiles a GLSL compute shader to SPIR-V, checks it, and makes NAME.inc, the words
# as a C initialiser, in TARGET's binary folder; adds it to the target's sources. Includes are followed.
function(gainz_shader target name source)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/shaders)
  set(output ${folder}/${name}.inc)
  set(flags --target-env=vulkan1.2 -O -Werror ${ARGN})
  set(check)
  if(GAINZ_SPIRV_VAL)
    set(check COMMAND ${GAINZ_SPIRV_VAL} --target-env vulkan1.2 ${folder}/${name}.spv)
  endif()
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${output}
    COMMAND ${GAINZ_GLSLC} ${flags} ${source} -o ${folder}/${name}.spv
    ${check}
    COMMAND ${GAINZ_GLSLC} ${flags} -mfmt=c -MD -MF ${output}.d -MT ${output} ${source} -o ${output}
    DEPENDS ${source} DEPFILE ${output}.d VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
