// SPDX-License-Identifier: Apache-2.0
// Counted: an object of ours that Media Foundation holds. Compiled on Windows alone; any thread.
#pragma once

#include <atomic>

#include <unknwn.h>

namespace matte {

/// Counts the references to an object of `Interface` and of `Base`, which Interface extends. It begins with one
/// reference and deletes itself with the last.
template <class Interface, class Base = IUnknown>
class Counted : public Interface {
public:
    STDMETHODIMP QueryInterface(REFIID wanted, void** answer) override {
        if (!answer) return E_POINTER;
        const bool isKnown = wanted == __uuidof(IUnknown) || wanted == __uuidof(Base) || wanted == __uuidof(Interface);
        *answer = isKnown ? static_cast<Interface*>(this) : nullptr;
        if (!isKnown) return E_NOINTERFACE;
        AddRef();
        return S_OK;
    }
    STDMETHODIMP_(ULONG) AddRef() override { return ++references_; }
    STDMETHODIMP_(ULONG) Release() override {
        const ULONG left = --references_;
        if (left == 0) delete this;
        return left;
    }

protected:
    virtual ~Counted() = default;

private:
    std::atomic<ULONG> references_{1};
};

}  // namespace matte
