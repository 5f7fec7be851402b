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
