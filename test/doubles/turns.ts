/** How often other work got its turn between the first and the last step of `work`. */
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
