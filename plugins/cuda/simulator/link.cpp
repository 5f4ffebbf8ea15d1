// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The linker. Like the real one, it writes to the caller's log buffer until the link is destroyed.
#include "driver.hpp"

#include <algorithm>
#include <cstring>

namespace pi::cuda {

using namespace simulated;

namespace {

std::shared_ptr<LinkState> state_of(CUlinkState handle) {
    std::shared_ptr<LinkState> state = driver().links.find(handle);
    need(state != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return state;
}

/// Runs a step and writes its WrongImage to the log.
template <class Step>
CUresult logged(LinkState &state, const Step &step) {
    try {
        step();
    } catch (const WrongImage &wrong) {
        state.log.write(wrong.log + "\n");
        return wrong.code;
    }
    state.log.write("");
    return CUDA_SUCCESS;
}

/// Options of a whole link, which a single input cannot have.
bool is_of_links(CUjit_option option) {
    switch (option) {
    case CU_JIT_WALL_TIME:
    case CU_JIT_INFO_LOG_BUFFER:
    case CU_JIT_ERROR_LOG_BUFFER:
    case CU_JIT_TARGET_FROM_CUCONTEXT:
    case CU_JIT_TARGET:
        return true;
    default:
        return false;
    }
}

} // namespace

CUresult cuLinkCreate_v2(unsigned int count, CUjit_option *options, void **values,
                         CUlinkState *out) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out && (count == 0 || (options && values)), CUDA_ERROR_INVALID_VALUE);
        auto state = std::make_shared<LinkState>();
        state->context = context;
        state->log = Log(count, options, values);
        *out = driver().links.add(state);
        return CUDA_SUCCESS;
    });
}

CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void *data, size_t size,
                          const char *, unsigned int count, CUjit_option *options, void **values) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<LinkState> state = state_of(handle);
        need(data && size > 0 && (count == 0 || (options && values)), CUDA_ERROR_INVALID_VALUE);
        need(std::none_of(options, options + count, is_of_links), CUDA_ERROR_INVALID_VALUE);
        need(state->cubin.empty(), CUDA_ERROR_INVALID_VALUE);
        const auto *text = static_cast<const char *>(data);
        return logged(*state, [&] {
            if (type == CU_JIT_INPUT_PTX && text[size - 1] != 0)
                throw WrongImage{CUDA_ERROR_INVALID_PTX, "PTX does not end with a 0"};
            const std::string copy = translate(std::string(text, strnlen(text, size)));
            read_image(copy);
            state->images.push_back(copy);
        });
    });
}

CUresult cuLinkComplete(CUlinkState handle, void **cubin, size_t *size) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<LinkState> state = state_of(handle);
        need(cubin && !state->images.empty(), CUDA_ERROR_INVALID_VALUE);
        return logged(*state, [&] {
            state->cubin = link_images(state->images, CUDA_ERROR_INVALID_IMAGE);
            *cubin = state->cubin.data();
            if (size)
                *size = state->cubin.size();
        });
    });
}

CUresult cuLinkDestroy(CUlinkState handle) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<LinkState> state = state_of(handle);
        // Poisons the image: loading it after this fails.
        std::fill(state->cubin.begin(), state->cubin.end(), '\xcb');
        driver().links.erase(handle);
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
