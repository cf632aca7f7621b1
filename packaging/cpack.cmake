# Packages: a .deb whose library dependencies are read from the programs, and a .tar.gz, each with its SHA-256.
# copyright names the licences of everything that a package carries.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/packaging/copyright
  ${PROJECT_SOURCE_DIR}/packaging/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME matte)
set(CPACK_PACKAGE_VENDOR "The Matte project")
set(CPACK_PACKAGE_CONTACT "The Matte project <matte@matte.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "A neural network finds the person, and a blur, a colour, a picture, a looping video or nothing
takes the place of what is behind. Other programs can use the live picture as a camera. Everything happens on this
computer, with or without a GPU. matte is the window, matte-cli does photos and videos without one.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION video)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libgl1-mesa-dri, qt6-wayland, fonts-dejavu-core")
include(CPack)
