import type { Generated } from 'kysely'

/** Number of a key's own memories. `ends_at` is when those of a revoked key are deleted. */
export interface MemorySpaceRow {
  space: Generated<number>
  key_id: string
  ends_at: string | null
}

/**
 * One memory. `value`, `tags` and `also` are JSON; the `_text` columns hold what the full-text index reads; `bytes` is what the
 * memory counts for in its namespace's total, `words` what its value does.
 */
export interface MemoryRow {
  seq: Generated<number>
  id: string
  /** 0: the operator's. */
  space: number
  project: string | null
  namespace: string
  key: string
  value: string
  tags: string
  also: string
  bytes: number
  words: number
  embedded: string
  version: number
  created_at: string
  updated_at: string
  expires_at: string | null
  key_text: string
  value_text: string
  tags_text: string
  also_text: string
}

/**
 * Embedding of a memory: its quantized vector and the sign bits, in base64. `source` identifies the upstream, model,
 * document prefix and length.
 */
export interface MemoryVectorRow {
  place: Generated<number>
  seq: number
  space: number
  source: string
  signs: string
  vector: string
}

/** A version of a memory that is no longer current; `superseded_by` is the key of the memory that took its place. */
export interface MemoryVersionRow
  extends Pick<
    MemoryRow,
    | 'space'
    | 'namespace'
    | 'key'
    | 'version'
    | 'id'
    | 'project'
    | 'value'
    | 'tags'
    | 'also'
    | 'created_at'
    | 'updated_at'
    | 'expires_at'
  > {
  superseded_by: string | null
}

/** One tag of one memory, with what the newest-first list of a tag is ordered and filtered by. */
export interface MemoryTagRow {
  seq: number
  tag: string
  space: number
  namespace: string
  updated_at: string
}

/**
 * A part of how many memories a namespace holds, expired ones that are not yet swept included, of their bytes and of the words
 * of their values: the rows of a namespace add up, and one alone may be negative.
 */
export interface MemoryTotalsRow {
  space: number
  namespace: string
  shard: number
  memories: number
  bytes: number
  words: number
}

/** A word of a space, and how many memories hold it. `ending` is the word backwards, or empty. */
export interface MemoryWordRow {
  space: number
  word: string
  stem: string
  ending: string
  memories: number
}

export interface MemoryTables {
  memory_spaces: MemorySpaceRow
  memories: MemoryRow
  memory_versions: MemoryVersionRow
  memory_vectors: MemoryVectorRow
  memory_tags: MemoryTagRow
  memory_totals: MemoryTotalsRow
  memory_words: MemoryWordRow
}
