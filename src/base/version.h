/*
** version.h
** The version of nslua, for the interpreter and `ns._VERSION`. A spec compares it with the rockspec, the manual page and
** CHANGELOG.md.
*/
#pragma once

#define NS_VERSION "0.1.0"
