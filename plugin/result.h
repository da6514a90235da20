// SPDX-License-Identifier: Apache-2.0
// What a function that can fail returns. An Error carries one line for a person (what, why, what to do) and a
// negative errno for callers of the C interface. Exceptions do not cross a function that returns a Result.
#pragma once

#include <cassert>
#include <cerrno>
#include <string>
#include <utility>
#include <variant>

namespace pyperf {

struct Error {
    std::string message;
    int code = -EINVAL;  // negative errno

    // The same error, with the thing that was being done in front: "reading x: no such file".
    Error within(const std::string& what) const { return {what + ": " + message, code}; }
};

template <typename T>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(value()); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    T& value() {
        assert(state_.index() == 0);
        return *std::get_if<0>(&state_);
    }
    const T& value() const {
        assert(state_.index() == 0);
        return *std::get_if<0>(&state_);
    }
    const Error& error() const {
        assert(state_.index() == 1);
        return *std::get_if<1>(&state_);
    }

  private:
    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)), failed_(true) {}

    explicit operator bool() const { return !failed_; }
    const Error& error() const {
        assert(failed_);
        return error_;
    }

  private:
    Error error_;
    bool failed_ = false;
};

}  // namespace pyperf
