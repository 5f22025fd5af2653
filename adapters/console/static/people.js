// Who sits here: the picker, the dialog for a new name, and the choice that outlives a restart.

import { api } from "./api.js";
import { byId, h } from "./dom.js";

const KEPT = "interlock.person";
const ELSE = "?";

export class People {
  constructor({ onChange, onProblem }) {
    this.onChange = onChange;
    this.onProblem = onProblem;
    this.select = byId("person");
    this.dialog = byId("guest");
    this.select.addEventListener("change", () => this.chosen(this.select.value));
    byId("guest-cancel").addEventListener("click", () => this.dialog.close());
    byId("guest-form").addEventListener("submit", () => this.pick(byId("guest-name").value.trim()));
  }

  /** Learn who the session speaks for; bring back the person picked before. */
  async load() {
    const session = await api.session();
    this.show(session);
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "null");
    if (kept && kept.id !== session.person.id) await this.pick(this.knows(kept.id) ? kept.id : kept.name);
    return session;
  }

  show(session) {
    this.me = session.person;
    this.people = session.people;
    const options = session.people.map((person) => h("option", { value: person.id }, person.name));
    this.select.replaceChildren(...options, h("option", { value: ELSE }, "Someone else…"));
    this.select.value = session.person.id;
    this.onChange(session.person);
  }

  knows(id) {
    return this.people.some((person) => person.id === id);
  }

  chosen(value) {
    if (value !== ELSE) return this.pick(value);
    this.select.value = this.me.id;
    byId("guest-name").value = "";
    this.dialog.showModal();
    return undefined;
  }

  async pick(person) {
    if (!person) return;
    try {
      this.show(await api.pick(person));
      localStorage.setItem(KEPT, JSON.stringify(this.me));
    } catch (error) {
      this.select.value = this.me.id;
      this.onProblem(error);
    }
  }
}
