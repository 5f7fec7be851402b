/** One connection for all of a process: whoever comes next waits until it is released. */
export function createTurns() {
  let tail: Promise<void> = Promise.resolve()
  let release = () => {}
  let waiting = 0
  return {
    /** How many wait for it. */
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
