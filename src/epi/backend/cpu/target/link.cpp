// JITLink on a bare ExecutionSession: no materialisation threads, one JITDylib a kernel, removed with its code.
#include "epi/backend/cpu/target/link.h"

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/TaskDispatch.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <cstring>

#include "epi/backend/cpu/target/host_calls.h"

namespace epi::cpu {
namespace {

namespace orc = llvm::orc;

std::string text_of(llvm::Error error) { return llvm::toString(std::move(error)); }

struct Session {
  std::unique_ptr<orc::ExecutionSession> session;
  std::unique_ptr<orc::ObjectLinkingLayer> layer;
  std::atomic<std::uint64_t> count{0};
};

Result<Session*> session() {
  struct Made {
    Session* session = nullptr;
    std::string error;
  };
  static const Made made = [] {
    Made m;
    auto control = orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
    if (!control) {
      m.error = text_of(control.takeError());
      return m;
    }
    m.session = new Session;  // never destroyed: kernels may live until the process ends
    m.session->session = std::make_unique<orc::ExecutionSession>(std::move(*control));
    m.session->session->setErrorReporter([](llvm::Error e) { llvm::consumeError(std::move(e)); });  // lookups report too
    m.session->layer = std::make_unique<orc::ObjectLinkingLayer>(*m.session->session,
                                                                 m.session->session->getExecutorProcessControl().getMemMgr());
    return m;
  }();
  if (!made.session) return internal_error("the code linker does not start: " + made.error);
  return made.session;
}

class Code final : public LoadedCode {
 public:
  Code(orc::ExecutionSession& session, orc::JITDylib& library) : session_(session), library_(library) {}
  ~Code() override { llvm::consumeError(session_.removeJITDylib(library_)); }
  [[nodiscard]] void* entry() const override { return entry_; }
  void* entry_ = nullptr;

 private:
  orc::ExecutionSession& session_;
  orc::JITDylib& library_;
};

}  // namespace

std::span<const HostCall> host_calls() {
  static const HostCall kCalls[] = {
      {"epi_host_print", reinterpret_cast<void*>(&epi_host_print)},
      {"memcpy", reinterpret_cast<void*>(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memcpy))},
      {"memmove", reinterpret_cast<void*>(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memmove))},
      {"memset", reinterpret_cast<void*>(static_cast<void* (*)(void*, int, std::size_t)>(&std::memset))},
  };
  return kCalls;
}

Result<std::unique_ptr<LoadedCode>> link_object(std::string_view object, const std::string& symbol) {
  EPI_TRY(Session* s, session());
  orc::ExecutionSession& es = *s->session;
  orc::JITDylib& library = es.createBareJITDylib("kernel" + std::to_string(s->count++));
  auto code = std::make_unique<Code>(es, library);
  orc::SymbolMap calls;
  for (const HostCall& c : host_calls())
    calls[es.intern(c.name)] = {orc::ExecutorAddr::fromPtr(c.address), llvm::JITSymbolFlags::Exported};
  if (llvm::Error e = library.define(orc::absoluteSymbols(std::move(calls)))) return internal_error("linking: " + text_of(std::move(e)));
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), symbol);
  if (llvm::Error e = s->layer->add(library, std::move(buffer))) return internal_error("linking " + symbol + ": " + text_of(std::move(e)));
  auto found = es.lookup({&library}, es.intern(symbol));
  if (!found) return internal_error("linking " + symbol + ": " + text_of(found.takeError()));
  code->entry_ = found->getAddress().toPtr<void*>();
  return std::unique_ptr<LoadedCode>(std::move(code));
}

}  // namespace epi::cpu
