/** A memory as the API gives it. */
export interface Memory {
  id: string
  key: string
  namespace: string
  /** Null: every project. */
  project: string | null
  value: unknown
  tags: string[]
  version: number
  created_at: string
  updated_at: string
  expires_at: string | null
}

/** A memory that a search found. */
export interface Found {
  memory: Memory
  /** In (0, 1]; 1 for the best match. */
  score: number
  excerpt: string
}

/** How much is stored. */
export interface MemoryStats {
  engine: string
  count: number
  bytes: number
  namespaces: Record<string, number>
  newest_at: string | null
}

/** A value as text to show and edit. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
