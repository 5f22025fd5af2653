from tests.unit.adapters.console.desk import TOKEN, Setup, open_desk

SESSION = "/api/v1/session"


async def test_the_page_learns_who_sits_here_and_who_may_be_picked():
    async with open_desk() as desk:
        await desk.visit()
        state = (await desk.ask("GET", SESSION)).body
        assert state["person"] == {"id": "console:local:ada", "name": "Ada"}
        assert [one["name"] for one in state["people"]] == ["Ada", "Bob", "Carol"]
        assert (state["resourceId"], state["login"]) == ("console:local", False)


async def test_a_person_is_picked_by_id_or_by_a_new_name():
    async with open_desk() as desk:
        await desk.visit()
        bob = await desk.write(SESSION, {"person": "console:local:bob"})
        assert bob.body["person"]["name"] == "Bob"
        dana = await desk.write(SESSION, {"person": " Dana\u202e Scully "})
        assert dana.body["person"] == {"id": "console:local:dana-scully", "name": "Dana Scully"}
        assert dana.body["person"] in dana.body["people"]
        assert (await desk.ask("GET", SESSION)).body["person"]["name"] == "Dana Scully"
        assert await desk.adapter.names(["console:local:dana-scully", "console:local:x"]) == {
            "console:local:dana-scully": "Dana Scully"
        }


async def test_nobody_picks_an_id_of_another_platform():
    async with open_desk() as desk:
        await desk.visit()
        for person in ("slack:T1:U1", "api:token", ""):
            assert (await desk.write(SESSION, {"person": person})).status == 400, person


async def test_a_program_has_no_session_to_pick_in():
    async with open_desk() as desk:
        answer = await desk.call("POST", SESSION, {"person": "Bob"})
        assert answer.status == 401
        assert (await desk.call("GET", SESSION)).body["person"]["id"] == "api:token"


async def test_agents_are_listed_with_what_they_can_do():
    async with open_desk() as desk:
        answer = (await desk.call("GET", "/api/v1/agents")).body
        assert answer["default"] == "helper"
        assert answer["agents"][0]["name"] == "Helper"
        assert "submit_plan" in answer["agents"][0]["tools"]


async def test_with_a_token_set_the_page_asks_for_it():
    async with open_desk(Setup(token=TOKEN)) as desk:
        first = await desk.ask("GET", "/", allow_redirects=False)
        assert (first.status, first.headers["Location"]) == (303, "/login")
        assert "Set-Cookie" not in first.headers
        form = await desk.ask("GET", "/login")
        assert 'name="token"' in form.text


async def test_the_token_is_traded_for_a_session():
    async with open_desk(Setup(token=TOKEN)) as desk:
        headers = {"Origin": desk.url}
        form = {"token": TOKEN}
        answer = await desk.ask("POST", "/login", data=form, headers=headers, allow_redirects=False)
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        assert "HttpOnly" in answer.headers["Set-Cookie"]
        assert TOKEN not in answer.headers["Set-Cookie"]
        assert (await desk.ask("GET", SESSION)).body["login"] is True


async def test_a_wrong_token_is_told_so_and_opens_nothing():
    async with open_desk(Setup(token=TOKEN)) as desk:
        headers = {"Origin": desk.url}
        answer = await desk.ask("POST", "/login", data={"token": "<b>no"}, headers=headers)
        assert answer.status == 401
        assert "That is not the token." in answer.text
        assert "<b>no" not in answer.text
        assert (await desk.ask("GET", SESSION)).status == 401


async def test_a_login_from_another_site_is_refused_with_the_right_token():
    async with open_desk(Setup(token=TOKEN)) as desk:
        headers = {"Origin": "https://evil.example"}
        answer = await desk.ask("POST", "/login", data={"token": TOKEN}, headers=headers)
        assert answer.status == 403
        assert "Set-Cookie" not in answer.headers


async def test_behind_a_proxy_with_tls_the_cookie_is_secure():
    async with open_desk(Setup(token=TOKEN, hosts=("bot.example.com",))) as desk:
        headers = {"Host": "bot.example.com", "Origin": "https://bot.example.com", "Via": "1.1 x"}
        options = {"data": {"token": TOKEN}, "headers": headers, "allow_redirects": False}
        answer = await desk.ask("POST", "/login", **options)
        assert "Secure" in answer.headers["Set-Cookie"]


async def test_without_a_token_there_is_nothing_to_log_in_with():
    async with open_desk() as desk:
        form = await desk.ask("GET", "/login", allow_redirects=False)
        assert (form.status, form.headers["Location"]) == (303, "/")
        headers = {"Origin": desk.url}
        assert (await desk.ask("POST", "/login", data={"token": ""}, headers=headers)).status == 401
