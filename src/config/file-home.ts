import { GazewayError } from '../errors.ts'
import { lazily } from '../lazily.ts'
import { rereadDocument } from './config.ts'
import type { ConfigHome } from './home.ts'

/** Loaded on the first change, which most processes never make. */
const loadFile = lazily(() => import('./file.ts'))

/** Stores configuration changes in config.json, for processes that share a data folder. */
export function fileHome(file: string): ConfigHome {
  return {
    // Processes that watch config.json see every change here.
    revision: async () => '',
    read: async () => new Map(),
    async change(document, change) {
      const { updateDocument } = await loadFile()
      try {
        rereadDocument(file, document)
        await updateDocument(file, change)
      } catch (error) {
        refuseBroken(error)
      }
    },
  }
}

/**
 * Turns the error of a broken file into a conflict: the sender of a change did not cause it, and a person must repair
 * the file.
 */
function refuseBroken(error: unknown): never {
  if (!(error instanceof GazewayError) || error.code !== 'config_invalid') throw error
  throw new GazewayError('conflict', `${error.message} Nothing was changed. Repair the file first.`, { cause: error })
}
