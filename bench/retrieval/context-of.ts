import { createAllowRoot } from '../../src/context/allowed-root.ts'
import { createContext } from '../../src/context/context.ts'
import { createTokenCounter } from '../../src/text/token-counter.ts'

export const countTokens = createTokenCounter()

/** A work context as a process of its own has it, but that the encoding is loaded. */
export function contextOf(dataFolder: string) {
  return createContext({
    dwell: async () => [],
    memories: async () => [],
    onStoreFault: (error) => {
      throw error
    },
    allowRoot: createAllowRoot({
      configured: () => [],
      movedDirectory: async () => process.cwd(),
      workingDirectory: () => process.cwd(),
      homeFolder: () => null,
    }),
    countTokens,
    now: () => new Date(),
    dataFolder,
  })
}
