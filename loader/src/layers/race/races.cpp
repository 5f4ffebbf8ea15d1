// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "races.hpp"

#include "error.hpp"
#include "layers/layers.hpp"
#include "plugin.hpp"

#include <pi/describe/checks/image.hpp>

namespace pi::loader::race {
namespace {

pi_log_level level_of(const Configuration &configuration) {
    const char *level = configuration.get("PI_RACE");
    return parse_log_level(level != nullptr ? level : "").value_or(PI_LOG_WARNING);
}

std::string words(const Command &command, const Access &access) {
    constexpr const char *verbs[] = {"reads it", "writes it", "receives an address in it"};
    return fmt::format("{}, call {} on queue {}, {}", function_rows[command.function].name,
                       command.call, command.queue, verbs[static_cast<std::size_t>(access.use)]);
}

std::string place(const Storage &storage, const Range &range) {
    if (storage.unit == Unit::pixel)
        return fmt::format("pixels of {}", storage.name);
    if (storage.unit == Unit::address)
        return fmt::format("bytes {:#x} to {:#x} of {}", range.begin, range.end - 1, storage.name);
    return fmt::format("bytes {} to {} of {}", range.begin, range.end - 1, storage.name);
}

} // namespace

Races::Races(PluginInstance &instance)
    : next_(instance.chain().next(race_layer)), queries_(instance.chain().queries()),
      instance_(instance), level_(level_of(instance.configuration())),
      host_(std::make_shared<const Storage>(Storage{"the host's memory", Unit::address})) {}

void Races::add_queue(pi_queue queue) {
    uint64_t flags = 0;
    {
        const ErrorScope scope;
        queries_.piQueueGetInfo(queue, PI_QUEUE_INFO_FLAGS, sizeof flags, &flags, nullptr);
    }
    const std::scoped_lock lock(mutex_);
    queues_.add(queue, {(flags & PI_QUEUE_OUT_OF_ORDER) == 0});
}

void Races::add_memory(pi_mem mem, uint64_t size, uint64_t flags) {
    auto storage = std::make_shared<const Storage>(
        Storage{fmt::format("mem {}", static_cast<void *>(mem)), Unit::byte});
    const std::scoped_lock lock(mutex_);
    memory_.add(mem, {std::move(storage), 0, size, (flags & PI_MEM_READ_ONLY) != 0});
}

void Races::add_image(pi_mem mem, const pi_mem_image_desc &desc) {
    auto storage = std::make_shared<const Storage>(
        Storage{fmt::format("image {}", static_cast<void *>(mem)), Unit::pixel});
    const std::scoped_lock lock(mutex_);
    const Grid grid{{desc.width, std::max<uint64_t>(desc.height, 1),
                     std::max<uint64_t>({desc.depth, desc.array_size, 1})}};
    memory_.add(mem, {std::move(storage), 0, 0, (desc.flags & PI_MEM_READ_ONLY) != 0,
                      checks::pixel_bytes(desc.channel_order, desc.channel_type), grid});
}

void Races::add_program(pi_program program) {
    const std::scoped_lock lock(mutex_);
    programs_.add(program, {});
}

void Races::add_view(pi_mem parent, pi_mem view, const pi_mem_partition_desc &desc) {
    const std::scoped_lock lock(mutex_);
    const Memory *whole = memory_.find(parent);
    if (whole == nullptr)
        return;
    const bool read_only =
        desc.flags == 0 ? whole->read_only : (desc.flags & PI_MEM_READ_ONLY) != 0;
    memory_.add(view, {whole->storage, whole->offset + desc.offset, desc.size, read_only});
}

void Races::add_host_event(pi_event event) {
    const std::scoped_lock lock(mutex_);
    events_.add(event, {nullptr, std::make_shared<Gate>()});
}

void Races::forget_event(pi_event event) {
    const std::scoped_lock lock(mutex_);
    events_.forget(event);
}

void Races::add_usm(const void *pointer, uint64_t size) {
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    auto storage =
        std::make_shared<const Storage>(Storage{fmt::format("USM memory {}", pointer), Unit::byte});
    const std::scoped_lock lock(mutex_);
    // Allocations that ended with their context and were not freed.
    auto next = usm_.lower_bound(begin);
    if (next != usm_.begin() && std::prev(next)->first + std::prev(next)->second.size > begin)
        --next;
    while (next != usm_.end() && next->first < begin + size)
        next = usm_.erase(next);
    usm_.insert_or_assign(begin, Usm{size, std::move(storage)});
}

Races::FreedUsm Races::free_usm(const void *pointer) noexcept {
    const std::scoped_lock lock(mutex_);
    return usm_.extract(reinterpret_cast<uintptr_t>(pointer));
}

void Races::put_back_usm(FreedUsm freed) noexcept {
    const std::scoped_lock lock(mutex_);
    if (!freed.empty())
        usm_.insert(std::move(freed));
}

void Races::use_mem(std::vector<Access> &out, pi_mem mem, Use use, Ranges ranges) {
    const std::scoped_lock lock(mutex_);
    if (const Memory *memory = memory_.find(mem)) {
        ranges.move(memory->offset);
        out.push_back({memory->storage, use, std::move(ranges)});
    }
}

uint32_t Races::pixel_of(pi_mem mem) noexcept {
    const std::scoped_lock lock(mutex_);
    const Memory *memory = memory_.find(mem);
    return memory != nullptr ? memory->pixel : 0;
}

Grid Races::grid_of(pi_mem image) noexcept {
    const std::scoped_lock lock(mutex_);
    const Memory *memory = memory_.find(image);
    return memory != nullptr ? memory->grid : Grid();
}

void Races::use_freed(std::vector<Access> &out, const FreedUsm &freed) {
    if (freed.empty())
        return;
    Ranges ranges;
    ranges.add(0, freed.mapped().size);
    out.push_back({freed.mapped().storage, Use::writes, std::move(ranges)});
}

const Usm *Races::usm_of(uintptr_t address, uintptr_t &out_begin) const noexcept {
    const auto behind = usm_.upper_bound(address);
    if (behind == usm_.begin())
        return nullptr;
    const auto &[begin, usm] = *std::prev(behind);
    out_begin = begin;
    return address - begin < usm.size ? &usm : nullptr;
}

void Races::use_pointer(std::vector<Access> &out, const void *pointer, Use use, Ranges ranges) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    uintptr_t begin = 0;
    const std::scoped_lock lock(mutex_);
    const Usm *usm = usm_of(address, begin);
    ranges.move(usm != nullptr ? address - begin : address);
    out.push_back({usm != nullptr ? usm->storage : host_, use, std::move(ranges)});
}

void Races::use_variable(std::vector<Access> &out, pi_program program, const char *name, Use use,
                         Ranges ranges) {
    const std::scoped_lock lock(mutex_);
    ProgramState *state = programs_.find(program);
    if (state == nullptr || name == nullptr)
        return;
    std::shared_ptr<const Storage> &storage = state->variables[name];
    if (storage == nullptr)
        storage = std::make_shared<const Storage>(Storage{
            fmt::format("variable \"{}\" of program {}", name, static_cast<void *>(program)),
            Unit::byte});
    out.push_back({storage, use, std::move(ranges)});
}

void Races::use_argument(std::vector<Access> &out, const pi_kernel_argument &argument) {
    if (argument.kind == PI_ARGUMENT_POINTER) {
        const auto address = reinterpret_cast<uintptr_t>(argument.pointer);
        uintptr_t begin = 0;
        const std::scoped_lock lock(mutex_);
        if (const Usm *usm = usm_of(address, begin)) {
            Ranges ranges;
            ranges.add(address - begin, begin + usm->size - address);
            out.push_back({usm->storage, Use::may, std::move(ranges)});
        }
        return;
    }
    if (argument.kind != PI_ARGUMENT_BUFFER && argument.kind != PI_ARGUMENT_IMAGE)
        return;
    const std::scoped_lock lock(mutex_);
    const Memory *memory = memory_.find(argument.mem);
    if (memory == nullptr)
        return;
    Ranges ranges;
    if (memory->storage->unit == Unit::pixel) {
        ranges.add(0, std::numeric_limits<uint64_t>::max());
    } else {
        const auto found = memory->leads.find({argument.offset, argument.size});
        const uint64_t lead = found != memory->leads.end() ? found->second : 0;
        const uint64_t size = argument.size != 0
                                  ? argument.size
                                  : memory->size - std::min(memory->size, argument.offset);
        ranges.add(memory->offset + argument.offset + lead, size - lead);
    }
    out.push_back(
        {memory->storage, memory->read_only ? Use::reads : Use::writes, std::move(ranges)});
}

bool Races::set_lead(const pi_kernel_argument &argument, uint64_t lead) {
    const std::scoped_lock lock(mutex_);
    Memory *const memory = memory_.find(argument.mem);
    if (memory == nullptr)
        return false;
    auto &leads = memory->leads;
    if (leads.size() >= most_leads && !leads.contains({argument.offset, argument.size}))
        leads.clear(); // entries of old launches, with few exceptions
    uint64_t &largest = leads[{argument.offset, argument.size}];
    largest = std::max(largest, lead);
    return true;
}

void Races::map(std::vector<Access> &out, const pi_buffer_map_desc &desc) {
    const bool writes = (desc.flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD)) != 0;
    Ranges ranges;
    ranges.add(desc.offset, desc.size);
    use_mem(out, desc.mem, writes ? Use::writes : Use::reads, std::move(ranges));
    const std::scoped_lock lock(mutex_);
    const Memory *memory = memory_.find(desc.mem);
    if (memory == nullptr)
        return;
    if (mappings_.size() >= most_open)
        mappings_.clear();
    mappings_.push_back(
        {desc.mem, memory->storage, {desc.offset, desc.offset + desc.size}, writes});
}

// An unmap names a pointer, and maps of one range may share a pointer. If a mem has several maps,
// the layer does not know which one ends.
void Races::unmap(std::vector<Access> &out, pi_mem mem) {
    Ranges ranges;
    bool writes = false;
    {
        const std::scoped_lock lock(mutex_);
        const Memory *memory = memory_.find(mem);
        const auto is_mapping = [&](const Mapping &mapping) {
            return mapping.mem == mem && memory != nullptr && mapping.storage == memory->storage;
        };
        const auto found = std::find_if(mappings_.begin(), mappings_.end(), is_mapping);
        if (found == mappings_.end())
            return;
        if (std::count_if(mappings_.begin(), mappings_.end(), is_mapping) == 1) {
            ranges.add(found->range.begin, found->range.end - found->range.begin);
            writes = found->writes;
        }
        mappings_.erase(found);
    }
    use_mem(out, mem, writes ? Use::writes : Use::reads, std::move(ranges));
}

// The command continues the lane of one of its predecessors, if no other command does.
void Races::take_predecessor(Command &command, const std::shared_ptr<const Command> &before,
                             Behind behind) {
    command.past.add(before->past, behind);
    if (command.lane == nullptr && before->lane->last == before->number)
        command.lane = before->lane;
}

std::vector<EventState> Races::waits_of(uint32_t wait_count, const pi_event *wait_list) {
    std::vector<EventState> waits;
    const std::scoped_lock lock(mutex_);
    for (uint32_t i = 0; wait_list != nullptr && i < wait_count; ++i) {
        const EventState *state = events_.find(wait_list[i]);
        waits.push_back(state != nullptr ? *state : EventState());
    }
    return waits;
}

void Races::take_waits(Command &command, QueueState &queue, const Enqueued &enqueued) {
    command.past.add(queue.barrier, Behind::order);
    if (queue.last != nullptr)
        take_predecessor(command, queue.last, Behind::order);
    if (enqueued.waits_for_all && enqueued.waits.empty())
        command.past.add(queue.all, Behind::order);
    for (const EventState &wait : enqueued.waits) {
        if (wait.gate != nullptr) {
            command.past.add(wait.gate);
        } else if (wait.command != nullptr) {
            take_predecessor(command, wait.command, Behind::event);
        } else {
            // Created in a way that the layer does not see: it may be behind anything.
            for (const std::shared_ptr<Command> &other : open_)
                command.past.add(other->past, Behind::event);
        }
    }
}

void Races::add(Enqueued enqueued, Stack stack) {
    std::vector<std::string> reports;
    {
        const std::scoped_lock lock(mutex_);
        QueueState *queue = queues_.find(enqueued.queue);
        if (queue == nullptr)
            return;
        auto command = std::make_shared<Command>();
        command->function = enqueued.function;
        command->call = ++calls_[enqueued.function];
        command->queue = enqueued.queue;
        command->stack = std::move(stack);
        command->accesses = std::move(enqueued.accesses);
        take_waits(*command, *queue, enqueued);
        if (command->lane == nullptr)
            command->lane = std::make_shared<Lane>();
        command->number = ++command->lane->last;
        if (!command->accesses.empty()) {
            if (open_.size() >= most_open)
                close_first();
            open_.push_back(command);
            ++command->lane->open;
        }
        command->past.add(command->lane, command->number);
        Past all;
        all.add(queue->all, Behind::order);
        all.add(command->past, Behind::order);
        queue->all = std::move(all);
        if (queue->in_order)
            queue->last = command;
        if (enqueued.barrier)
            queue->barrier = command->past;
        if (enqueued.event != nullptr)
            events_.add(enqueued.event, {command, nullptr});
        command->held = command->past.held();
        if (!command->held && !command->past.failed())
            compare(*command, reports);
        if (enqueued.blocked)
            end_locked(command->past);
    }
    report(reports);
}

Past Races::past_before(const Enqueued &enqueued) {
    Command command;
    const std::scoped_lock lock(mutex_);
    if (QueueState *queue = queues_.find(enqueued.queue))
        take_waits(command, *queue, enqueued);
    return std::move(command.past);
}

void Races::compare(const Command &command, std::vector<std::string> &reports) {
    bool after = false;
    for (const std::shared_ptr<Command> &other : open_) {
        if (other.get() == &command)
            after = true;
        else if (!other->held && !other->past.failed())
            compare(after ? command : *other, after ? *other : command, reports);
    }
}

void Races::compare(const Command &first, const Command &second,
                    std::vector<std::string> &reports) {
    if (second.past.has(first.lane, first.number) || first.past.has(second.lane, second.number))
        return;
    for (const Access &a : first.accesses) {
        for (const Access &b : second.accesses) {
            if (a.storage != b.storage || !conflict(a.use, b.use))
                continue;
            const Range both = a.ranges.overlap(b.ranges);
            if (both.begin == both.end)
                continue;
            if (reported_.size() < most_reports &&
                reported_.emplace(first.stack, second.stack).second)
                reports.push_back(fmt::format(
                    "race on {}: {}; {}; nothing orders them: put the first's event into the "
                    "second's wait_list, or wait for it on the host in between\n  the first:{}\n"
                    "  the second:{}",
                    place(*a.storage, both), words(first, a), words(second, b),
                    describe(first.stack), describe(second.stack)));
            return;
        }
    }
}

void Races::close_first() {
    --open_.front()->lane->open;
    open_.pop_front();
}

void *Races::store(HostFunction function) {
    auto stored = std::make_unique<HostFunction>(std::move(function));
    void *const key = stored.get();
    const std::scoped_lock lock(mutex_);
    host_functions_.emplace(key, std::move(stored));
    return key;
}

std::unique_ptr<HostFunction> Races::take(const void *stored) noexcept {
    const std::scoped_lock lock(mutex_);
    auto found = host_functions_.extract(stored);
    return found.empty() ? nullptr : std::move(found.mapped());
}

Past Races::past_of_queue(pi_queue queue) {
    const std::scoped_lock lock(mutex_);
    const QueueState *state = queues_.find(queue);
    return state != nullptr ? state->all : Past();
}

Past Races::past_of_event(pi_event event) {
    const std::scoped_lock lock(mutex_);
    const EventState *state = events_.find(event);
    return state != nullptr && state->command != nullptr ? state->command->past : Past();
}

void Races::end(const Past &past) noexcept {
    const std::scoped_lock lock(mutex_);
    end_locked(past);
}

void Races::end_event(pi_event event) noexcept {
    const std::scoped_lock lock(mutex_);
    const EventState *state = events_.find(event);
    if (state != nullptr && state->command != nullptr)
        end_locked(state->command->past);
}

void Races::give_up() noexcept {
    if (!gave_up_.exchange(true))
        instance_.log().write(level_,
                              "plugin {}: race: out of memory: no further races are reported",
                              instance_.name());
}

void Races::end_locked(const Past &past) noexcept {
    for (const Past::Place &place : past.places())
        place.lane->done = std::max(place.lane->done, place.number);
    std::erase_if(open_, [](const std::shared_ptr<Command> &command) {
        const bool ended = command->number <= command->lane->done;
        command->lane->open -= ended ? 1 : 0;
        return ended;
    });
}

void Races::end_waited(pi_event event, pi_result result) noexcept {
    if (result == PI_SUCCESS || is_result(event, result))
        end_event(event);
}

bool Races::is_result(pi_event event, pi_result result) noexcept {
    {
        const std::scoped_lock lock(mutex_);
        if (events_.find(event) == nullptr)
            return false; // perhaps it is not an allocation
    }
    const ErrorScope scope;
    pi_event_status status = PI_EVENT_QUEUED;
    pi_result own = PI_SUCCESS;
    return queries_.piEventGetInfo(event, PI_EVENT_INFO_STATUS, sizeof status, &status, nullptr) ==
               PI_SUCCESS &&
           status == PI_EVENT_COMPLETE &&
           queries_.piEventGetInfo(event, PI_EVENT_INFO_RESULT, sizeof own, &own, nullptr) ==
               PI_SUCCESS &&
           own == result;
}

void Races::signal(pi_event event, pi_result result) {
    std::vector<std::string> reports;
    {
        const std::scoped_lock lock(mutex_);
        const EventState *state = events_.find(event);
        if (state == nullptr || state->gate == nullptr)
            return;
        set_gate(*state->gate, result, reports);
    }
    report(reports);
}

void Races::abandon(const Known<pi_event, EventState>::Taken &released) {
    if (released.empty() || released.mapped().state.gate == nullptr)
        return;
    std::vector<std::string> reports;
    {
        const std::scoped_lock lock(mutex_);
        set_gate(*released.mapped().state.gate, PI_ERROR_ABANDONED, reports);
    }
    report(reports);
}

// Idempotent.
void Races::set_gate(Gate &gate, pi_result result, std::vector<std::string> &reports) {
    if (gate.state != Gate::State::closed)
        return;
    gate.state = result == PI_SUCCESS ? Gate::State::open : Gate::State::failed;
    settle(reports);
}

// Compares the commands that no host event holds back any more, each pair once its second one is
// free.
void Races::settle(std::vector<std::string> &reports) {
    for (const std::shared_ptr<Command> &command : open_) {
        if (!command->held || command->past.held())
            continue;
        command->held = false;
        if (!command->past.failed())
            compare(*command, reports);
    }
}

void Races::report(const std::vector<std::string> &reports) const noexcept {
    if (gave_up_)
        return;
    for (const std::string &report : reports)
        instance_.log().write(level_, "plugin {}: {}", instance_.name(), report);
}

} // namespace pi::loader::race
