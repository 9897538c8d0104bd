// A C++ host throws through its own frames above the plugin's calls, and ends threads that moved data by unwinding.
//
// GUEST CASE caught caught
// GUEST CASE ends_a_thread thread
// GUEST CASE uncaught uncaught -- status=-6

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>

extern "C" {
void *guest_begin(void);
int guest_step(void *link, int fill);
}

namespace {

struct Scope {
  ~Scope() { std::puts("unwound"); }
};

void call_and_throw(void *link, int number) {
  Scope scope;
  if (guest_step(link, number) != 0) std::puts("no message");
  throw std::runtime_error("the host's own");
}

void *thread(void *) {
  Scope scope;
  void *link = guest_begin();
  if (guest_step(link, 1) != 0) std::puts("no message");
  pthread_exit(nullptr);
}

}  // namespace

int main(int, char **arguments) {
  void *link = guest_begin();
  if (std::strcmp(arguments[1], "thread") == 0) {
    for (int i = 0; i < 3; i++) {
      pthread_t it;
      pthread_create(&it, nullptr, thread, nullptr);
      pthread_join(it, nullptr);
    }
  } else if (std::strcmp(arguments[1], "uncaught") == 0) {
    call_and_throw(link, 1);
  }
  for (int i = 0; i < 3; i++) {
    try {
      call_and_throw(link, i);
    } catch (const std::exception &caught) {
      std::puts(caught.what());
    }
  }
  return 0;
}
