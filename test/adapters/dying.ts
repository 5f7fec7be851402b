/** Work of a process that dies as soon as its effect is durable, before anybody is answered. */
export const dies =
  <Args extends unknown[]>(work: (...args: Args) => Promise<unknown>) =>
  async (...args: Args): Promise<never> => {
    await work(...args)
    throw new Error('The process died.')
  }
