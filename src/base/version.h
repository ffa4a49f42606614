/*
** version.h
** The version of nslua, for the interpreter and `ns._VERSION`. A spec compares it with the rockspec, the manual page and
** CHANGELOG.md.
*/
#ifndef NS_BASE_VERSION_H
#define NS_BASE_VERSION_H

#define NS_VERSION "0.1.0"

#endif
