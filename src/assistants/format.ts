import { GazewayError } from '../errors.ts'

/** Name of the entry in every assistant's file. */
export const SERVER_NAME = 'gazeway'

/** The text of a file. */
export interface TextFile {
  /** Its path, for messages. */
  file: string
  /** Content without a byte order mark; empty when the file does not exist. */
  text: string
}

/** The text of an assistant's file. */
export interface Source extends TextFile {
  /** Field that holds the servers by name. */
  servers: string
}

/** Reads, adds and removes an entry in files of one format. The rest of the text is unchanged, byte for byte. */
export interface Format {
  /**
   * Reads Gazeway's entry. Undefined when there is none.
   *
   * @throws GazewayError `config_invalid` for an invalid text, `conflict` for one that contains the entry twice
   */
  read(source: Source): unknown
  /**
   * Tells whether the field with the servers exists.
   *
   * @throws as `read`
   */
  hasServers(source: Source): boolean
  /**
   * Adds or replaces the entry.
   *
   * @throws as `read`
   */
  put(source: Source, entry: Record<string, unknown>): string
  /**
   * Removes the entry.
   *
   * @param emptied `taken` removes the field with the servers too when it is empty
   * @throws as `read`
   */
  take(source: Source, emptied: 'kept' | 'taken'): string
}

/** Error for an invalid file. */
export const invalidFile = (file: string, fault: string): GazewayError =>
  new GazewayError('config_invalid', `${file}: ${fault}. Repair it by hand; nothing was changed.`)

/**
 * Runs a parser.
 *
 * @throws GazewayError `config_invalid` for a file nested too deeply for a recursive parser
 */
export function unnested<T>(file: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof RangeError ? invalidFile(file, 'nested too deeply') : error
  }
}
