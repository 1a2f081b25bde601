import type { WritableEntry } from '../format.js';

/** Providers refuse larger images. They measure the base64 text of an image. */
export const maxImageBytes = 5 * 1024 * 1024;

/** Whether providers refuse the image of the entry. */
export const isTooLarge = ({ media }: Pick<WritableEntry, 'media'>): boolean =>
  media?.mediaType.startsWith('image/') === true && 4 * Math.ceil(media.bytes.length / 3) > maxImageBytes;

/** Stands in an export for an image that its provider would refuse. */
export const leftOutImage = '[an image of more than 5 MB was left out]';
