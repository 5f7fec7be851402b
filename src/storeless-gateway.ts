import type { LoadedConfig } from './config/config.ts'
import { createAllowRoot } from './context/allowed-root.ts'
import { createContext } from './context/context.ts'
import type { GazewayError } from './errors.ts'
import type { Gateway } from './gateway.ts'
import { homeFolder } from './text/home-folder.ts'
import { createTokenCounter } from './text/token-counter.ts'

/**
 * What works of a gateway whose store cannot be opened: the work context, without attention and memories.
 *
 * @param fault why the store cannot be opened, which the context's notes tell
 */
export function storeless(loaded: LoadedConfig, fault: GazewayError): Pick<Gateway, 'context'> {
  const fails = () => Promise.reject(fault)
  const context = createContext({
    dwell: fails,
    memories: fails,
    // The caller is told of it with each context.
    onStoreFault: () => {},
    allowRoot: createAllowRoot({
      configured: () => loaded.config.context.roots,
      workingDirectory: () => process.cwd(),
      homeFolder,
    }),
    countTokens: createTokenCounter(),
    now: () => new Date(),
    dataFolder: loaded.dataDir,
  })
  return { context }
}

/** Whether it is the store that keeps a gateway from opening. */
export const isStoreFault = ({ code }: GazewayError): boolean => code.startsWith('store_')
