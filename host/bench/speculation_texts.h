// The prompts of `gainz bench --speculation`. Constant texts; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace gainz::host {

inline constexpr uint32_t kSpeculationContext = 1024;  // tokens; more than the longest of them

inline const std::string& listing() {
  static const std::string text = R"py(class Ledger:
    def __init__(self, owner):
        self.owner = owner
        self.entries = []
        self.balance = 0

    def deposit(self, amount, note):
        if amount <= 0:
            raise ValueError("a deposit must be positive")
        self.balance = self.balance + amount
        self.entries.append(("deposit", amount, note))
        return self.balance

    def withdraw(self, amount, note):
        if amount <= 0:
            raise ValueError("a withdrawal must be positive")
        if amount > self.balance:
            raise ValueError("the balance is too low")
        self.balance = self.balance - amount
        self.entries.append(("withdrawal", amount, note))
        return self.balance

    def report(self):
        lines = ["Ledger of " + self.owner]
        for kind, amount, note in self.entries:
            lines.append(kind + ": " + str(amount) + " (" + note + ")")
        lines.append("balance: " + str(self.balance))
        return "\n".join(lines)
)py";
  return text;
}

// Each ends inside a line, as a model that goes on does best, and after a few tokens of what is to be copied.
inline std::string copy_prompt() {
  return "File ledger.py:\n```python\n" + listing() +
         "```\n\nThe same file once more, without any change:\n```python\nclass Ledger:\n    def __init__(self, owner):\n"
         "        self.owner = owner\n        self.entries = []\n        self.balance = 0\n\n    def deposit(self, amount, "
         "note):";
}

inline std::string rename_prompt() {
  return "File ledger.py:\n```python\n" + listing() +
         "```\n\nThe same file with every `amount` renamed to `value`:\n```python\nclass Ledger:\n    def __init__(self, "
         "owner):\n"
         "        self.owner = owner\n        self.entries = []\n        self.balance = 0\n\n    def deposit(self, value, "
         "note):\n"
         "        if value <= 0:";
}

inline std::string quote_prompt() {
  const std::string passage =
      "The harbour of Almsund was built in 1887 by the engineer Karl Rask, who had seen the great breakwaters of the south and "
      "wanted one of his own. It took nine winters and four hundred workers to close the gap between the two islands. On the "
      "day "
      "when the last stone was set, a storm came up from the west, and the people stood on the hill and watched the waves "
      "break "
      "on the new wall. The wall held. For sixty years no ship was lost in the harbour, and the fishermen called it the arm.";
  return "Passage:\n" + passage +
         "\n\nQuestion: What does the passage say of the harbour? Quote it word for word.\nAnswer: \"The harbour of Almsund "
         "was built in 1887 by the engineer";
}

inline std::string json_prompt() {
  std::string out = "[\n";
  const char* const names[] = {"Anna Berg", "Bruno Costa", "Clara Dahl", "David Egger", "Elena Fuchs"};
  for (int i = 0; i < 5; ++i) {
    out += "  {\"id\": " + std::to_string(i + 1) + ", \"name\": \"" + names[i] +
           "\", \"department\": \"engineering\", \"location\": \"Berlin\", \"active\": true, \"manager\": null},\n";
  }
  return out + "  {\"id\": 6, \"name\": \"Frida Gross\",";
}

inline std::string prose_prompt() {
  return "The old lighthouse keeper had not spoken to anyone for eleven days when the storm began. That evening he wrote in "
         "his "
         "diary about the sea, the birds, and his father, who";
}

}  // namespace gainz::host
