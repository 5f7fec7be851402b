/** One setting that lies over the config.json of every machine on the store. */
export interface SettingRow {
  /** The configuration key, dotted; of a record, all of it. */
  path: string
  /** JSON; `null` is the default, whatever config.json says. */
  value: string
  updated_at: string
}

/** The one row that says which state the settings are in. */
export interface SettingsRevisionRow {
  id: number
  /** Grows with each change. */
  revision: number
}

export interface SettingsTables {
  settings: SettingRow
  settings_revision: SettingsRevisionRow
}
