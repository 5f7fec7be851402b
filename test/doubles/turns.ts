/** Counts the turns of other work between the first and last step of `work`. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let next = setImmediate(count)
  function count(): void {
    turns++
    next = setImmediate(count)
  }
  try {
    await work()
    return turns
  } finally {
    clearImmediate(next)
  }
}
