/** Work that goes on after its reply: a relayed call is recorded once its client has gone. */
export interface Pending {
  track<T>(work: Promise<T>): Promise<T>
  /** When all of it is done. */
  settled(): Promise<void>
}

export function createPending(): Pending {
  const pending = new Set<Promise<unknown>>()
  return {
    track(work) {
      pending.add(work)
      const done = () => pending.delete(work)
      work.then(done, done)
      return work
    },
    async settled() {
      await Promise.allSettled(pending)
    },
  }
}
