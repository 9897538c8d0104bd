#include <stdio.h>
#include <string.h>

#include "shim.h"

#define ENTRY "io/heddle/plugin/PluginEntry"
#define ENTRY_WITH_DOTS "io.heddle.plugin.PluginEntry"

/* Logs and clears a pending exception. Returns true if there was one. */
static bool failed(JNIEnv *env, const char *doing) {
  jthrowable thrown = (*env)->ExceptionOccurred(env);
  if (thrown == NULL) {
    return false;
  }
  (*env)->ExceptionClear(env);
  jclass type = (*env)->GetObjectClass(env, thrown);
  jmethodID to_string = (*env)->GetMethodID(env, type, "toString", "()Ljava/lang/String;");
  jstring text = to_string == NULL ? NULL : (jstring)(*env)->CallObjectMethod(env, thrown, to_string);
  const char *characters = text == NULL ? NULL : (*env)->GetStringUTFChars(env, text, NULL);
  const char *description = characters == NULL ? "no description" : characters;
  heddle_log(NCCL_LOG_WARN, "Java failed at %s: %s%s", doing, description,
             heddle_thread_limits_suffix(description).text);
  if (characters != NULL) {
    (*env)->ReleaseStringUTFChars(env, text, characters);
  }
  (*env)->ExceptionClear(env);
  return true;
}

/*
 * A host's own JVM has no --enable-native-access for the plugin, and each kind of foreign call would print a warning to
 * the host's standard error. JNI may call the private method of java.lang.Module that grants native access. If a later
 * release renames this method, the warning appears, but everything else still works.
 */
static void allow_native_access(JNIEnv *env) {
  jclass module = (*env)->FindClass(env, "java/lang/Module");
  jmethodID allow =
      module == NULL ? NULL : (*env)->GetStaticMethodID(env, module, "implAddEnableNativeAccessToAllUnnamed", "()V");
  if (allow != NULL) {
    (*env)->CallStaticVoidMethod(env, module, allow);
  }
  (*env)->ExceptionClear(env);
}

/*
 * Creates a separate class loader over the jar. Its parent is the platform's loader, not the application's, since the
 * host may have other versions of the jar's classes. The loader lives as long as the process, like the upcall stubs of
 * its classes.
 */
static jclass load_by_own_loader(JNIEnv *env, const char *jar) {
  jstring path = (*env)->NewStringUTF(env, jar);
  jclass file_class = (*env)->FindClass(env, "java/io/File");
  jclass uri_class = (*env)->FindClass(env, "java/net/URI");
  jclass url_class = (*env)->FindClass(env, "java/net/URL");
  jclass loader_class = (*env)->FindClass(env, "java/lang/ClassLoader");
  jclass url_loader_class = (*env)->FindClass(env, "java/net/URLClassLoader");
  if (failed(env, "finding the class loader's classes")) {
    return NULL;
  }
  jmethodID new_file = (*env)->GetMethodID(env, file_class, "<init>", "(Ljava/lang/String;)V");
  jmethodID to_uri = (*env)->GetMethodID(env, file_class, "toURI", "()Ljava/net/URI;");
  jmethodID to_url = (*env)->GetMethodID(env, uri_class, "toURL", "()Ljava/net/URL;");
  jmethodID platform_loader =
      (*env)->GetStaticMethodID(env, loader_class, "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");
  jmethodID new_loader =
      (*env)->GetMethodID(env, url_loader_class, "<init>", "([Ljava/net/URL;Ljava/lang/ClassLoader;)V");
  jmethodID load_class = (*env)->GetMethodID(env, loader_class, "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;");
  if (failed(env, "finding the class loader's methods")) {
    return NULL;
  }
  jobject file = (*env)->NewObject(env, file_class, new_file, path);
  jobject uri = failed(env, "naming the jar") ? NULL : (*env)->CallObjectMethod(env, file, to_uri);
  jobject url = uri == NULL || failed(env, "naming the jar") ? NULL : (*env)->CallObjectMethod(env, uri, to_url);
  if (url == NULL || failed(env, "naming the jar")) {
    return NULL;
  }
  jobjectArray urls = (*env)->NewObjectArray(env, 1, url_class, url);
  jobject parent = (*env)->CallStaticObjectMethod(env, loader_class, platform_loader);
  jobject loader = failed(env, "finding the platform's class loader")
                       ? NULL
                       : (*env)->NewObject(env, url_loader_class, new_loader, urls, parent);
  if (loader == NULL || failed(env, "making a class loader")) {
    return NULL;
  }
  (*env)->NewGlobalRef(env, loader);
  return (jclass)(*env)->CallObjectMethod(env, loader, load_class, (*env)->NewStringUTF(env, ENTRY_WITH_DOTS));
}

bool heddle_java_enter(JNIEnv *env, bool own_jvm, const char *jar, struct heddle_host *host,
                       struct heddle_calls *calls) {
  if ((*env)->PushLocalFrame(env, 32) != JNI_OK) {
    failed(env, "making room for references");
    return false;
  }
  jclass entry;
  if (own_jvm) {
    entry = (*env)->FindClass(env, ENTRY);
  } else {
    allow_native_access(env);
    entry = load_by_own_loader(env, jar);
  }
  bool entered = false;
  if (!failed(env, "loading " ENTRY_WITH_DOTS) && entry != NULL) {
    jmethodID start = (*env)->GetStaticMethodID(env, entry, "start", "(JJ)I");
    if (!failed(env, "finding " ENTRY_WITH_DOTS ".start")) {
      jint result = (*env)->CallStaticIntMethod(env, entry, start, (jlong)(intptr_t)host, (jlong)(intptr_t)calls);
      entered = !failed(env, ENTRY_WITH_DOTS ".start") && result == NCCL_SUCCESS;
    }
  }
  (*env)->PopLocalFrame(env, NULL);
  return entered;
}
