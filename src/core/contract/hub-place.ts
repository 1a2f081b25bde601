// The address of a project on a hub, without schemas, so that a command line can read one without loading the schema library.

/** A project on a hub. `token` is set if the address is a share link. */
export interface HubPlace {
  readonly hub: string;
  readonly project: string;
  readonly token?: string;
}

/** Reads `https://hub.example/web-shop`, or a share link `https://hub.example/share/web-shop/TOKEN`. Undefined for anything else. */
export function hubPlaceOf(text: string): HubPlace | undefined {
  const [, ofLink, shared, token] = /^(https?:\/\/[^?#]+)\/share\/([^/?#]+)\/([^/?#]+)$/.exec(text) ?? [];
  if (ofLink !== undefined && shared !== undefined && token !== undefined) return { hub: ofLink, project: shared, token };
  const [, hub, project] = /^(https?:\/\/[^?#]*[^/?#])\/([^/?#]+)\/*$/.exec(text) ?? [];
  return hub === undefined || project === undefined || hub.endsWith('/') || /^https?:\/?$/.test(hub) ? undefined : { hub, project };
}
