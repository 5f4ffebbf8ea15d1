// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage/storage_state.hpp"

#include <pi/runtime/error.hpp>

#include <array>
#include <utility>

namespace pi::runtime {
namespace {

void check_range(const char *what, uint64_t offset, uint64_t size, uint64_t limit) {
    if (size == 0) {
        throw Error(PI_ERROR_INVALID_SIZE, std::string(what) + ": size is 0");
    }
    if (offset > limit || size > limit - offset) {
        throw Error(PI_ERROR_INVALID_SIZE,
                    std::string(what) + ": offset " + std::to_string(offset) + " and size " +
                        std::to_string(size) + " go past the end, " + std::to_string(limit));
    }
}

void check_access(Access access) {
    if (access > Access::discard_write) {
        throw Error(PI_ERROR_INVALID_VALUE,
                    "Buffer::acquire: access is " + std::to_string(static_cast<uint32_t>(access)) +
                        "; there are read (0), write (1), read_write (2) and discard_write (3)");
    }
}

AcquisitionState &require(const std::unique_ptr<AcquisitionState> &state) {
    if (state == nullptr) {
        throw Error(PI_ERROR_INVALID_OPERATION, "an empty acquisition");
    }
    state->storage->runtime()->origin.require_here("Acquisition");
    return *state;
}

/// Once a use is over, its memory may be evicted at any time.
AcquisitionState &require_held(const std::unique_ptr<AcquisitionState> &state, const char *what) {
    if (!require(state).held) {
        throw Error(PI_ERROR_INVALID_OPERATION,
                    std::string(what) +
                        "() of an acquisition that was released or abandoned already");
    }
    return *state;
}

const Runtime &here(const Runtime &runtime) {
    runtime.state()->origin.require_here("Runtime");
    return runtime;
}

StorageState &require(const std::shared_ptr<StorageState> &state) {
    state->runtime()->origin.require_here("Storage");
    return *state;
}

BufferState &require(const std::shared_ptr<BufferState> &state) {
    if (state == nullptr) {
        throw Error(PI_ERROR_INVALID_OPERATION, "an empty buffer");
    }
    state->storage->runtime()->origin.require_here("Buffer");
    return *state;
}

} // namespace

const char *to_string(Access access) noexcept {
    constexpr std::array names{"read", "write", "read-write", "discard-write"};
    const auto index = static_cast<size_t>(access);
    return index < names.size() ? names[index] : "?";
}

StorageState::StorageState(std::shared_ptr<RuntimeState> runtime, StorageDescriptor description)
    : runtime_(std::move(runtime)), description_(std::move(description)),
      operations_(replicas_.ledger, runtime_->continuations),
      attachments_(*runtime_, description_, replicas_, *this) {}

StorageState::~StorageState() {
    runtime_->bounce_bytes -= replicas_.bounce_bytes;
}

RangeSet StorageState::valid(PlaceIndex place) {
    check_place(place);
    const std::lock_guard lock(mutex_);
    catch_up();
    return attachments_[place] ? replicas_.ledger.valid(attachments_[place]->view) : RangeSet();
}

std::optional<uint32_t> StorageState::memory_of(PlaceIndex place) const {
    check_place(place);
    const std::lock_guard lock(mutex_);
    if (!attachments_[place]) {
        return std::nullopt;
    }
    return replicas_.ledger.memory_of(attachments_[place]->view);
}

Storage::Storage(const Runtime &runtime, StorageDescriptor description)
    : state_(make_shared_here<StorageState>(here(runtime).state(), std::move(description))) {
    if (state_->description().ready) {
        state_->await_first_content();
    }
}

uint64_t Storage::size() const noexcept {
    return state_->description().size;
}

Buffer Storage::buffer(uint64_t offset, uint64_t size) const {
    check_range("Storage::buffer", offset, size, this->size());
    auto state = std::make_shared<BufferState>();
    state->storage = state_;
    state->range = {offset, offset + size};
    return Buffer(std::move(state));
}

Buffer Storage::buffer() const {
    return buffer(0, size());
}
Counters Storage::counters() const {
    return require(state_).counters().read();
}
RangeSet Storage::valid(PlaceIndex place) const {
    return require(state_).valid(place);
}
RangeSet Storage::lost() const {
    return require(state_).lost();
}
std::optional<uint32_t> Storage::memory_of(PlaceIndex place) const {
    return require(state_).memory_of(place);
}
bool Storage::finish(std::chrono::nanoseconds timeout) const {
    return require(state_).in_flight().wait(deadline_after(timeout));
}

Buffer::Buffer(std::shared_ptr<BufferState> state) noexcept : state_(std::move(state)) {}

uint64_t Buffer::size() const noexcept {
    return state_ == nullptr ? 0 : state_->range.size();
}
uint64_t Buffer::offset() const noexcept {
    return state_ == nullptr ? 0 : state_->range.begin;
}

Acquisition Buffer::acquire(PlaceIndex place, Access access, uint64_t offset, uint64_t size) const {
    BufferState &state = require(state_);
    check_access(access);
    check_range("Buffer::acquire", offset, size, state.range.size());
    const uint64_t begin = state.range.begin + offset;
    return Acquisition(state.storage->acquire(state_, place, access, {begin, begin + size}));
}

Acquisition Buffer::acquire(PlaceIndex place, Access access) const {
    return acquire(place, access, 0, size());
}

void Buffer::prefetch(PlaceIndex place, uint64_t offset, uint64_t size) const {
    acquire(place, Access::read, offset, size).release();
}

void Buffer::prefetch(PlaceIndex place) const {
    prefetch(place, 0, size());
}

void Buffer::broadcast(std::span<const PlaceIndex> places, uint64_t offset, uint64_t size) const {
    BufferState &state = require(state_);
    check_range("Buffer::broadcast", offset, size, state.range.size());
    const uint64_t begin = state.range.begin + offset;
    for (const PlaceIndex place : places) {
        state.storage->check_place(place);
    }
    Spread spread{places.size(), {}};
    for (const PlaceIndex place : places) {
        --spread.followers;
        Acquisition(
            state.storage->acquire(state_, place, Access::read, {begin, begin + size}, &spread))
            .release();
    }
}

void Buffer::broadcast(std::span<const PlaceIndex> places) const {
    broadcast(places, 0, size());
}

Explanation Buffer::explain(PlaceIndex place, uint64_t offset, uint64_t size) const {
    const BufferState &state = require(state_);
    check_range("Buffer::explain", offset, size, state.range.size());
    const uint64_t begin = state.range.begin + offset;
    return state.storage->explain(place, {begin, begin + size});
}

Explanation Buffer::explain(PlaceIndex place) const {
    return explain(place, 0, size());
}

Counters Buffer::counters() const {
    return require(state_).counters.read();
}

Acquisition::Acquisition() noexcept = default;
Acquisition::~Acquisition() = default;
Acquisition::Acquisition(Acquisition &&) noexcept = default;
Acquisition &Acquisition::operator=(Acquisition &&) noexcept = default;
Acquisition::Acquisition(std::unique_ptr<AcquisitionState> state) noexcept
    : state_(std::move(state)) {}

PlaceIndex Acquisition::place() const {
    return require(state_).place;
}
Range Acquisition::range() const {
    return require(state_).range;
}
bool Acquisition::writes() const {
    return require(state_).writes;
}
pi_mem Acquisition::mem() const {
    return require_held(state_, "mem").mem;
}
uint64_t Acquisition::offset() const {
    return require_held(state_, "offset").range.begin;
}
pi_kernel_argument Acquisition::argument() const {
    const AcquisitionState &state = require_held(state_, "argument");
    if (state.place == host_place) {
        throw Error(PI_ERROR_INVALID_OPERATION,
                    "argument() of an acquisition at the host: kernels are launched at devices");
    }
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = mem();
    argument.offset = offset() - lead();
    argument.size = lead() + range().size();
    state.storage->runtime()->race.set_lead(state.place, argument, lead());
    return argument;
}
uint64_t Acquisition::lead() const {
    const AcquisitionState &state = require_held(state_, "lead");
    return state.range.begin % state.offset_alignment;
}
const std::vector<pi_event> &Acquisition::events() const {
    AcquisitionState &state = require_held(state_, "events");
    return state.events_for_any_queue();
}
const std::vector<pi_event> &Acquisition::events(pi_queue queue) const {
    AcquisitionState &state = require_held(state_, "events");
    return state.events_for(queue);
}

std::byte *Acquisition::pointer() const {
    const AcquisitionState &state = require_held(state_, "pointer");
    if (state.place != host_place) {
        throw Error(PI_ERROR_INVALID_OPERATION,
                    "pointer() of an acquisition at a device: acquire the host's place for one");
    }
    wait();
    return state.pointer;
}

void Acquisition::wait(std::chrono::nanoseconds timeout) const {
    const auto deadline = deadline_after(timeout);
    for (const Dependency &dependency : require(state_).dependencies) {
        const Completion &completion = *dependency.completion;
        if (!completion.wait_until(deadline)) {
            throw Error(PI_ERROR_TIMEOUT, "the bytes were not there in time");
        }
        if (dependency.data && completion.result() != PI_SUCCESS) {
            throw Error(completion.result(), completion.text());
        }
    }
}

void Acquisition::on_ready(TransferDone callback) const {
    const AcquisitionState &state = require(state_);
    when_all(state.dependencies, state.storage->runtime()->continuations, std::move(callback));
}

void Acquisition::release(pi_event event) {
    AcquisitionState &state = require(state_);
    state.storage->release(state, event);
}

void Acquisition::abandon() noexcept {
    if (state_ != nullptr) {
        state_->storage->abandon(*state_);
    }
}

bool Acquisition::held() const noexcept {
    return state_ != nullptr && state_->held;
}

} // namespace pi::runtime
