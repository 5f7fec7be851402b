/** Prefix of the ids of Responses that Gazeway made, of chat completions or Messages. */
export const OWN_RESPONSE = 'resp_gzw'
