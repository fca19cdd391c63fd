#include "terminal/interrupt.h"

#include <signal.h>
#include <unistd.h>

namespace gainz::host {
namespace {

constexpr int kGiveUpAt = 5;  // Ctrl-C so often means that nobody listens
volatile sig_atomic_t interrupts = 0;

void on_interrupt(int) {
  interrupts = interrupts + 1;
  if (interrupts >= kGiveUpAt) _exit(130);
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

int num_interrupts() { return interrupts; }
void clear_interrupts() { interrupts = 0; }

}  // namespace gainz::host
