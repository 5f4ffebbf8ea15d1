// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on device globals as command cases. Programs of one library share its variables, so
// each case has one of its own.

#include "checks.hpp"
#include "command_cases.hpp"
#include "globals.hpp"

namespace pi::suite {
namespace {

class GlobalCase : public CommandCase {
public:
    GlobalCase(Fixture &fixture, const char *command, const char *variable)
        : CommandCase(command), fixture_(fixture), variable_(variable),
          program_(make_variables_program(fixture)), now_(fixture.random_bytes(table_bytes)) {
        write_global(fixture, fixture.make_queue(), program_, variable_, now_);
    }
    void disturb(pi_queue other) override {
        now_ = fixture_.random_bytes(table_bytes);
        write_global(fixture_, other, program_, variable_, now_);
    }

protected:
    template <typename Desc>
    pi_result pass(pi_queue queue, Desc desc, uint64_t flags, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event) {
        desc.flags = flags;
        // The name is copied during the call.
        std::string name = desc.name;
        desc.name = name.c_str();
        const pi_result result =
            Description<Desc>::enqueue(queue, &desc, wait_count, wait_list, out_event);
        std::fill(name.begin(), name.end(), 'x');
        return result;
    }

    Fixture &fixture_;
    const char *variable_;
    Program program_;
    Bytes now_;
};

class GlobalRead final : public GlobalCase {
public:
    explicit GlobalRead(Fixture &fixture)
        : GlobalCase(fixture, "piEnqueueDeviceGlobalRead", "table"),
          before_(fixture.random_bytes(table_bytes)), into_(before_) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        return pass(queue, global_read_desc(program_, variable_, into_.data(), 0, table_bytes),
                    flags, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue) override {
        require_same_bytes(into_.data(), before_.data(), table_bytes,
                           name() + ": the host's bytes before it runs");
    }
    void require_done(pi_queue) override {
        require_same_bytes(into_.data(), now_.data(), table_bytes, name() + ": what was read");
    }
    void release(bool) override { program_.reset(); }

private:
    Bytes before_;
    Bytes into_;
};

class GlobalWrite final : public GlobalCase {
public:
    explicit GlobalWrite(Fixture &fixture)
        : GlobalCase(fixture, "piEnqueueDeviceGlobalWrite", "second_table"),
          from_(fixture.random_bytes(table_bytes)) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        return pass(queue, global_write_desc(program_, variable_, from_.data(), 0, table_bytes),
                    flags, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue other) override {
        require_global(fixture_, other, program_, variable_, now_,
                       name() + ": the variable before it runs");
    }
    void require_done(pi_queue other) override {
        require_global(fixture_, other, program_, variable_, from_,
                       name() + ": the variable that was written");
    }
    void release(bool changed) override {
        if (changed)
            program_.reset();
    }

private:
    Bytes from_;
};

} // namespace

void add_global_command_cases(Fixture &fixture, CommandCases &commands) {
    if (!has_variables(fixture))
        return;
    commands.push_back(std::make_unique<GlobalRead>(fixture));
    commands.push_back(std::make_unique<GlobalWrite>(fixture));
}

} // namespace pi::suite
