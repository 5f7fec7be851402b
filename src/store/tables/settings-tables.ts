/** A setting that overrides the config.json of every machine on the store. */
export interface SettingRow {
  /** Dotted configuration key. A setting with arbitrary names is stored as a whole. */
  path: string
  /** JSON; `null` selects the default, whatever config.json says. */
  value: string
  updated_at: string
}

/** The single row that holds the revision of the settings. */
export interface SettingsRevisionRow {
  id: number
  /** Incremented with each change. */
  revision: number
}

export interface SettingsTables {
  settings: SettingRow
  settings_revision: SettingsRevisionRow
}
