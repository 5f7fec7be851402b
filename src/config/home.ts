import { GazewayError } from '../errors.ts'
import { lazily } from '../lazily.ts'
import { rereadDocument } from './config.ts'
import type { ConfigDocument } from './config-schema.ts'
import type { Layer } from './layers.ts'

/** Storage of configuration changes, for all processes that share it. */
export interface ConfigHome {
  /**
   * Cheap fingerprint that differs after each change.
   *
   * @throws the store's error
   */
  revision(): Promise<string>
  /**
   * Reads the layer over config.json.
   *
   * @throws the store's error
   */
  read(): Promise<Layer>
  /**
   * Changes the stored document durably, under a lock shared by all processes.
   *
   * @param document content of config.json, when that is not the document to change
   * @param change maps the stored document to the new one; may run again; when it throws, nothing is written
   * @throws GazewayError `conflict` while config.json is broken, or when an editor saved it meanwhile;
   *   `store_unavailable`, `store_full`
   */
  change(document: ConfigDocument, change: (stored: ConfigDocument) => ConfigDocument): Promise<void>
}

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
