/** The commits of the releases that workflows of ours use, as the actions' repositories have them. */
export const PINS = {
  'actions/checkout': '3d3c42e5aac5ba805825da76410c181273ba90b1',
  'actions/setup-node': '820762786026740c76f36085b0efc47a31fe5020',
  'actions/setup-python': '5fda3b95a4ea91299a34e894583c3862153e4b97',
  'actions/setup-go': 'b7ad1dad31e06c5925ef5d2fc7ad053ef454303e',
  'actions/setup-java': 'b6effb05e454b25005698d916606bdc6ffcbf961',
  'actions/setup-dotnet': 'a98b56852c35b8e3190ac28c8c2271da59106c68',
  'actions/upload-artifact': 'bbbca2ddaa5d8feaa63e36b76fdaad77386f024f',
  'actions/download-artifact': '3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c',
  'actions/create-github-app-token': '1b10c78c7865c340bc4f6099eb2f838309f1e8c3',
} as const;

/** An Enterprise Server has no artifacts for newer ones, and github.com refuses a job that names these. */
export const GHES_PINS = {
  'actions/upload-artifact': 'c24449f33cd45d4826c6702db7e49f7cdb9b551d',
  'actions/download-artifact': '246d7188e736d3686f6d19628d253ede9697bd55',
} as const;

/** Whether a step uses the action of this repository, whatever its name and commit. */
export const isOwn = (uses = '') => uses !== '' && !uses.startsWith('actions/');
