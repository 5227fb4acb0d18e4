export function typesOf(contract: object): Promise<string>;
