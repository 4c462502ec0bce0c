// Tells the sanitizer of threads what it cannot see of `Mutex` (Synchronization). A lock that is contended is taken and
// given up in the standard library, which is not instrumented, and by the kernel (a PI futex): without this, whatever such a
// lock protects looks like a race. Loaded in front of the library (.ci/sanitize).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Of the sanitizer's runtime; absent in programs without it, as `swift test` itself is one.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lockSlow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT bool tryLockSlow(SELF void *mutex) __asm__(TRY_LOCK);
SWIFT void unlockSlow(SELF void *mutex) __asm__(UNLOCK);

SWIFT void lockSlow(uint32_t thread, SELF void *mutex) {
    ((SWIFT void (*)(uint32_t, SELF void *))dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool tryLockSlow(SELF void *mutex) {
    bool isLocked = ((SWIFT bool (*)(SELF void *))dlsym(RTLD_NEXT, TRY_LOCK))(mutex);
    if (isLocked && __tsan_acquire) __tsan_acquire(mutex);
    return isLocked;
}

SWIFT void unlockSlow(SELF void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((SWIFT void (*)(SELF void *))dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
