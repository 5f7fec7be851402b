import type { LoadedConfig } from './config/config.ts'
import { createAllowRoot, movedDirectory } from './context/allowed-root.ts'
import { createContext } from './context/context.ts'
import type { GazewayError } from './errors.ts'
import type { Gateway } from './gateway.ts'
import { homeFolder } from './text/home-folder.ts'
import { createTokenCounter } from './text/token-counter.ts'

/**
 * Gateway without a store: only the work context works, without attention and memories.
 *
 * @param fault reason why the store cannot be opened, reported in the context's notes
 */
export function storeless(loaded: LoadedConfig, fault: GazewayError): Pick<Gateway, 'context'> {
  const fails = () => Promise.reject(fault)
  const context = createContext({
    dwell: fails,
    memories: fails,
    // Each context reports store faults in its reply.
    onStoreFault: () => {},
    allowRoot: createAllowRoot({
      configured: () => loaded.config.context.roots,
      workingDirectory: () => process.cwd(),
      movedDirectory,
      homeFolder,
    }),
    countTokens: createTokenCounter(),
    now: () => new Date(),
    dataFolder: loaded.dataDir,
  })
  return { context }
}

/** Tells whether the store prevents a gateway from opening. */
export const isStoreFault = ({ code }: GazewayError): boolean => code.startsWith('store_')
