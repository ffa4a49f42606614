/*
** version.h
** The version of nslua: the only place that has it. The interpreter and `ns._VERSION` read it; a spec compares it with the
** rockspec, the manual page and CHANGELOG.md.
*/
#ifndef NS_BASE_VERSION_H
#define NS_BASE_VERSION_H

#define NS_VERSION "0.1.0"

#endif
