/*
 * Old symbol versions of glibc's functions, for hosts with glibc 2.28 (RHEL 8) and 2.31 (Ubuntu 20.04). Each source of
 * the library includes this file first. glibc 2.32 and 2.34 moved functions between libraries and gave them new symbol
 * versions. A library linked against the new versions doesn't load on the old hosts. The old versions name the same
 * functions. Old hosts have these functions in libpthread and libdl, which are empty on new hosts.
 */
#ifndef GLIBC_2_28_H
#define GLIBC_2_28_H

#if defined(__gnu_linux__) && (defined(__x86_64__) || defined(__aarch64__))
#if defined(__x86_64__)
#define OLD_VERSION(function, version) __asm__(".symver " #function "," #function "@GLIBC_" #version)
#else
/* The oldest symbol version of glibc on arm64 is 2.17. */
#define OLD_VERSION(function, version) __asm__(".symver " #function "," #function "@GLIBC_2.17")
#endif
OLD_VERSION(dladdr, 2.2.5);
OLD_VERSION(dlclose, 2.2.5);
OLD_VERSION(dlerror, 2.2.5);
OLD_VERSION(dlinfo, 2.3.3);
OLD_VERSION(dlopen, 2.2.5);
OLD_VERSION(dlsym, 2.2.5);
OLD_VERSION(pthread_attr_getstack, 2.2.5);
OLD_VERSION(pthread_attr_setstacksize, 2.2.5);
OLD_VERSION(pthread_condattr_setclock, 2.3.3);
OLD_VERSION(pthread_create, 2.2.5);
OLD_VERSION(pthread_getattr_np, 2.2.5);
OLD_VERSION(pthread_getname_np, 2.12);
OLD_VERSION(pthread_join, 2.2.5);
OLD_VERSION(pthread_key_create, 2.2.5);
OLD_VERSION(pthread_mutex_trylock, 2.2.5);
OLD_VERSION(pthread_once, 2.2.5);
OLD_VERSION(pthread_setname_np, 2.12);
OLD_VERSION(pthread_setspecific, 2.2.5);
OLD_VERSION(pthread_sigmask, 2.2.5);
#undef OLD_VERSION
#endif

#endif
