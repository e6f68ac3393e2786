/** When a request is repeated, and how long is waited before. */

const USUAL = 0.5;
export const LONGEST = 30;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const FORMS = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/** Milliseconds of an HTTP date, or null: also for a day that no calendar has. */
function httpDate(text) {
  const found = FORMS.map((form) => form.exec(text)).find(Boolean);
  if (!found) return null;
  const { day, month, year, time } = found.groups;
  const [hours, minutes, seconds] = time.split(':').map(Number);
  const fullYear = year.length === 2 ? Number(year) + (Number(year) < 70 ? 2000 : 1900) : Number(year);
  const index = MONTHS.indexOf(month);
  const date = new Date(0);
  date.setUTCFullYear(fullYear, index, Number(day));
  date.setUTCHours(hours, minutes, seconds);
  const isReal = index >= 0 && date.getUTCMonth() === index && date.getUTCDate() === Number(day) && hours < 24 && minutes < 60 && seconds <= 60;
  return isReal ? date.getTime() : null;
}

export const isRepeated = (status) => [408, 409, 429].includes(status) || (status >= 500 && status <= 599);

/** Seconds to wait before the next request, `attempt` counted from 0. */
export function waitFor(attempt, retryAfter = null) {
  const usual = Math.min(USUAL * 2 ** attempt, LONGEST);
  if (retryAfter === null || retryAfter === undefined) return usual;
  if (/^[0-9]+$/.test(retryAfter)) return Number(retryAfter);
  const date = httpDate(retryAfter);
  return date === null ? usual : Math.max(0, (date - Date.now()) / 1000);
}
