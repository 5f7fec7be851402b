import type { ConfigDocument } from './config-schema.ts'
import type { Layer } from './layers.ts'

/** Where changes of the configuration are kept for all processes that share it. */
export interface ConfigHome {
  /** Another text after each change; cheap to ask for. @throws the store's error */
  revision(): Promise<string>
  /** What lies over config.json. @throws the store's error */
  read(): Promise<Layer>
  /**
   * Changes what is stored, alone among all processes, durably.
   *
   * @param document what config.json holds, where that is not itself what is changed
   * @param change the new document from the stored one; it may run again, and when it throws nothing is written
   * @throws GazewayError `conflict` while config.json is broken, or where an editor saved it meanwhile;
   *   `store_unavailable`, `store_full`
   */
  change(document: ConfigDocument, change: (stored: ConfigDocument) => ConfigDocument): Promise<void>
}
