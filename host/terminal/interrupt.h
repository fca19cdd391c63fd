// Ctrl-C as a count that loops look at. The program, not the library, owns the handler. install() once, from main; the rest any
// thread.
#pragma once

namespace gainz::host {

void install_interrupt_handler();  // SIGINT; system calls that wait return EINTR
int num_interrupts();              // since the last clear
void clear_interrupts();

}  // namespace gainz::host
