from tests.check.measure import measured


def test_a_project_of_1000_files_takes_under_half_a_second_of_processor_time():
    assert measured(1_000, tries=3) < 0.5
