/** Creates a queue for the process's single connection: each user waits until the previous one releases it. */
export function createTurns() {
  let tail: Promise<void> = Promise.resolve()
  let release = () => {}
  let waiting = 0
  return {
    /** Length of the queue. */
    waiting: () => waiting,
    async take(): Promise<void> {
      const turn = tail
      let done = () => {}
      tail = new Promise((resolve) => {
        done = resolve
      })
      waiting++
      await turn
      waiting--
      release = done
    },
    giveBack: () => release(),
  }
}
